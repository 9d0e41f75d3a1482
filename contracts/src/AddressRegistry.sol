// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {Ownable, Ownable2Step} from "@openzeppelin/contracts/access/Ownable2Step.sol";

/// @title Where the parts of the protocol are
/// @notice The one address that never changes. Nothing here is upgradeable: a part is replaced by deploying its successor and naming it
/// here under one of the `AddressKeys`. In production the owner is a timelock, so that everybody sees a replacement coming.
contract AddressRegistry is Ownable2Step {
    mapping(bytes32 key => address) private _addresses;
    /// @notice Whether an address stands under a key, or ever did: what a replaced part still has in flight remains recognisable.
    mapping(bytes32 key => mapping(address part => bool)) public wasNamed;

    /// @notice A key now names another address.
    event AddressSet(bytes32 indexed key, address indexed previous, address indexed current);

    error AddressNotSet(bytes32 key);
    error ZeroAddress(bytes32 key);
    error OwnerRequired();

    constructor(address owner) Ownable(owner) {}

    /// @notice The address under a key. Reverts when there is none, so that nobody pays the zero address by mistake.
    function getAddress(bytes32 key) external view returns (address current) {
        current = _addresses[key];
        if (current == address(0)) revert AddressNotSet(key);
    }

    /// @notice The address under a key, or zero when there is none.
    function findAddress(bytes32 key) external view returns (address) {
        return _addresses[key];
    }

    /// @notice Names an address. There is no way to remove one: a part can only be replaced.
    function setAddress(bytes32 key, address current) external onlyOwner {
        if (current == address(0)) revert ZeroAddress(key);
        emit AddressSet(key, _addresses[key], current);
        _addresses[key] = current;
        wasNamed[key][current] = true;
    }

    /// @notice Refused: without an owner no part could ever be replaced.
    function renounceOwnership() public view override onlyOwner {
        revert OwnerRequired();
    }
}

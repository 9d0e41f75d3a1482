// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {StdAssertions} from "forge-std/StdAssertions.sol";
import {Vm} from "forge-std/Vm.sol";

/// @notice Cheat codes, assertions and wallets. Leaner than forge-std's `Test`: without its console and storage libraries.
abstract contract Cheats is StdAssertions {
    struct Wallet {
        address addr;
        uint256 key;
    }

    Vm internal constant vm = Vm(address(uint160(uint256(keccak256("hevm cheat code")))));

    function makeWallet(string memory name) internal pure returns (Wallet memory) {
        uint256 key = uint256(keccak256(bytes(name)));
        return Wallet(vm.addr(key), key);
    }

    function makeAddr(string memory name) internal pure returns (address) {
        return makeWallet(name).addr;
    }

    function sign(Wallet memory wallet, bytes32 digest) internal pure returns (bytes memory) {
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(wallet.key, digest);
        return abi.encodePacked(r, s, v);
    }

    /// @dev Like `new`, from the compiled artifact: a test that embeds the code of what it deploys makes the compiler optimise all of it
    /// again, a minute for each test contract. The artifact is what was built last: after a change to a contract, `hardhat build` comes
    /// before a run of single test files. (A run of all of them builds everything.)
    function deploy(string memory artifact, bytes memory args) internal returns (address deployed) {
        bytes memory code = bytes.concat(vm.getCode(artifact), args);
        assembly {
            deployed := create(0, add(code, 0x20), mload(code))
            if iszero(deployed) {
                returndatacopy(0, 0, returndatasize())
                revert(0, returndatasize())
            }
        }
    }

    function bound(uint256 value, uint256 low, uint256 high) internal pure returns (uint256) {
        return low + value % (high - low + 1);
    }
}

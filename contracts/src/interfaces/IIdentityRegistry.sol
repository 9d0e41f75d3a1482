// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

/// @title What the protocol reads of an ERC-8004 identity registry
interface IIdentityRegistry {
    /// @notice The wallet that owns an identity. Reverts when there is no such identity.
    function ownerOf(uint256 agentId) external view returns (address);

    /// @notice The wallet an identity wants to be paid at; zero when cleared or unknown.
    function getAgentWallet(uint256 agentId) external view returns (address);
}

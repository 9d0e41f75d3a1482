// SPDX-License-Identifier: MIT
pragma solidity ^0.8.28;

import {ERC721} from "@openzeppelin/contracts/token/ERC721/ERC721.sol";
import {ERC721URIStorage} from "@openzeppelin/contracts/token/ERC721/extensions/ERC721URIStorage.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {Signatures} from "./libraries/Signatures.sol";

/// @title ERC-8004 identity registry for chains that have none
/// @notice Public networks have one deployed; the protocol uses that. This one has the same interface, events and revert
/// strings.
contract IdentityRegistry is ERC721URIStorage, EIP712 {
    /// @notice One key and value to store at registration.
    /// @param metadataKey Any text except `agentWallet`, which is reserved
    /// @param metadataValue Any bytes
    struct MetadataEntry {
        string metadataKey;
        bytes metadataValue;
    }

    string private constant WALLET_KEY = "agentWallet";
    bytes32 private constant WALLET_KEY_HASH = keccak256(bytes(WALLET_KEY));
    bytes32 private constant AGENT_WALLET_SET_TYPEHASH =
        keccak256("AgentWalletSet(uint256 agentId,address newWallet,address owner,uint256 deadline)");
    uint256 private constant MAX_DEADLINE_DELAY = 5 minutes;

    uint256 private _nextId;
    mapping(uint256 agentId => address) private _wallets;
    mapping(uint256 agentId => mapping(string key => bytes)) private _metadata;

    /// @notice An identity was minted.
    /// @param agentId Id of the new identity; ids count from 0
    /// @param agentURI Where the identity describes itself; empty when it does not
    /// @param owner Who owns the identity
    event Registered(uint256 indexed agentId, string agentURI, address indexed owner);
    /// @notice A metadata value of an identity changed. The key `agentWallet` carries the 20 bytes of its wallet, or nothing
    /// when it has none.
    /// @param agentId Id of the identity
    /// @param indexedMetadataKey The key again, indexed: the topic is its keccak256
    /// @param metadataKey The key
    /// @param metadataValue The new value; empty when cleared
    event MetadataSet(
        uint256 indexed agentId, string indexed indexedMetadataKey, string metadataKey, bytes metadataValue
    );
    /// @notice The address of an identity's description changed.
    /// @param agentId Id of the identity
    /// @param newURI Where the identity describes itself from now on
    /// @param updatedBy The owner or approved account that changed it
    event URIUpdated(uint256 indexed agentId, string newURI, address indexed updatedBy);

    modifier onlyAuthorized(uint256 agentId) {
        require(_isAuthorized(ownerOf(agentId), msg.sender, agentId), "Not authorized");
        _;
    }

    constructor() ERC721("AgentIdentity", "AGENT") EIP712("ERC8004IdentityRegistry", "1") {}

    /// @notice Mints an identity to the caller, whose address becomes its agent wallet.
    /// @return agentId Id of the new identity
    function register() external returns (uint256 agentId) {
        return _register("");
    }

    /// @notice Mints an identity to the caller that describes itself at a URI.
    /// @param agentURI Where the identity describes itself; empty for nowhere
    /// @return agentId Id of the new identity
    function register(string memory agentURI) external returns (uint256 agentId) {
        return _register(agentURI);
    }

    /// @notice Mints an identity to the caller with a URI and metadata.
    /// @param agentURI Where the identity describes itself; empty for nowhere
    /// @param metadata Keys and values to store; the key `agentWallet` is refused
    /// @return agentId Id of the new identity
    function register(string memory agentURI, MetadataEntry[] memory metadata) external returns (uint256 agentId) {
        agentId = _register(agentURI);
        for (uint256 i = 0; i < metadata.length; ++i) {
            _setMetadata(agentId, metadata[i].metadataKey, metadata[i].metadataValue);
        }
    }

    /// @notice Changes where an identity describes itself. Only its owner or an approved account may call it.
    /// @param agentId Id of the identity
    /// @param newURI The new address of the description
    function setAgentURI(uint256 agentId, string calldata newURI) external onlyAuthorized(agentId) {
        _setTokenURI(agentId, newURI);
        emit URIUpdated(agentId, newURI, msg.sender);
    }

    /// @notice Reads a metadata value.
    /// @param agentId Id of the identity
    /// @param metadataKey The key; `agentWallet` reads the agent wallet
    /// @return The value; empty when it was never set
    function getMetadata(uint256 agentId, string memory metadataKey) external view returns (bytes memory) {
        if (keccak256(bytes(metadataKey)) != WALLET_KEY_HASH) return _metadata[agentId][metadataKey];
        address wallet = _wallets[agentId];
        return wallet == address(0) ? bytes("") : abi.encodePacked(wallet);
    }

    /// @notice Stores a metadata value. Only the owner of the identity or an approved account may call it.
    /// @param agentId Id of the identity
    /// @param metadataKey Any text except `agentWallet`, which is reserved
    /// @param metadataValue Any bytes; empty clears the value
    function setMetadata(uint256 agentId, string memory metadataKey, bytes memory metadataValue)
        external
        onlyAuthorized(agentId)
    {
        _setMetadata(agentId, metadataKey, metadataValue);
    }

    /// @notice The wallet at which the identity wants to be paid.
    /// @param agentId Id of the identity
    /// @return The wallet; zero when it was cleared or the identity is unknown
    function getAgentWallet(uint256 agentId) external view returns (address) {
        return _wallets[agentId];
    }

    /// @notice Sets a wallet that agreed to it by signature. Only the owner of the identity or an approved account may call it.
    /// @param agentId Id of the identity
    /// @param newWallet The wallet at which the identity will be paid, not zero
    /// @param deadline Unix seconds until which the signature counts; at most 5 minutes after the block timestamp
    /// @param signature EIP-712 signature of `newWallet` over `AgentWalletSet`: of its key, or by ERC-1271
    function setAgentWallet(uint256 agentId, address newWallet, uint256 deadline, bytes calldata signature)
        external
        onlyAuthorized(agentId)
    {
        require(newWallet != address(0), "bad wallet");
        require(block.timestamp <= deadline, "expired");
        require(deadline <= block.timestamp + MAX_DEADLINE_DELAY, "deadline too far");
        bytes32 structHash =
            keccak256(abi.encode(AGENT_WALLET_SET_TYPEHASH, agentId, newWallet, ownerOf(agentId), deadline));
        require(Signatures.isValid(newWallet, _hashTypedDataV4(structHash), signature), "invalid wallet sig");
        _setWallet(agentId, newWallet);
    }

    /// @notice Clears the agent wallet: payments then go to the owner. Only the owner or an approved account may call it.
    /// @param agentId Id of the identity
    function unsetAgentWallet(uint256 agentId) external onlyAuthorized(agentId) {
        _setWallet(agentId, address(0));
    }

    /// @notice Whether an account may act for an identity. Reverts when there is no such identity.
    /// @param spender The account in question
    /// @param agentId Id of the identity
    /// @return True for the owner, an operator of the owner, and the account approved for this identity
    function isAuthorizedOrOwner(address spender, uint256 agentId) external view returns (bool) {
        return _isAuthorized(ownerOf(agentId), spender, agentId);
    }

    /// @notice The version of the ERC-8004 reference registry that this one follows.
    /// @return The version, as `major.minor.patch`
    function getVersion() external pure returns (string memory) {
        return "2.0.0";
    }

    function _register(string memory agentURI) private returns (uint256 agentId) {
        agentId = _nextId++;
        _wallets[agentId] = msg.sender;
        _safeMint(msg.sender, agentId);
        if (bytes(agentURI).length != 0) _setTokenURI(agentId, agentURI);
        emit Registered(agentId, agentURI, msg.sender);
        // Not the caller's address: a contract may have passed the identity on when it received it, which cleared the wallet.
        _emitWallet(agentId, _wallets[agentId]);
    }

    function _setMetadata(uint256 agentId, string memory metadataKey, bytes memory metadataValue) private {
        require(keccak256(bytes(metadataKey)) != WALLET_KEY_HASH, "reserved key");
        _metadata[agentId][metadataKey] = metadataValue;
        emit MetadataSet(agentId, metadataKey, metadataKey, metadataValue);
    }

    function _setWallet(uint256 agentId, address wallet) private {
        _wallets[agentId] = wallet;
        _emitWallet(agentId, wallet);
    }

    function _emitWallet(uint256 agentId, address wallet) private {
        emit MetadataSet(
            agentId, WALLET_KEY, WALLET_KEY, wallet == address(0) ? bytes("") : abi.encodePacked(wallet)
        );
    }

    /// @dev Clears the agent wallet on a transfer: it belongs to the former owner.
    function _update(address to, uint256 agentId, address auth) internal override returns (address from) {
        if (_ownerOf(agentId) != address(0)) _setWallet(agentId, address(0));
        return super._update(to, agentId, auth);
    }
}
